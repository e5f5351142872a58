#!/bin/sh
# sonde study: usage, selection, tables, files, and the status of rows that fail.
run sonde study --list
sonde study --list mei2014 | head -4
run sonde study
run sonde study mei2104
run sonde study lashgar
run sonde study mei2014 more
run sonde study mei2014 --only t9
run sonde study mei2014 --only t3.kepler.p
run sonde study mei2014 -d maxwell=sim:gtx780
run sonde study mei2014 --only t3.kepler.p1 -d kepler=sim:gtx78
run sonde study mei2014 --only t3.kepler.p1 -d kepler=cuda:77x
run sonde study mei2014 --only t3.kepler.p1 --json nowhere/x.json
run sonde study mei2014 --size bfs=8
run sonde study bakhoda2009 --size bsf=8
run sonde study bakhoda2009 --size bfs=0
run sonde study bakhoda2009 --size bfs=8x
run sonde study bakhoda2009 --only table1.lps.concurrent -d one=cuda:0
run sonde study bakhoda2009 --only table1.lps.concurrent -d one=sim:missing.yaml
run sonde study bakhoda2009 --only table1.lps.concurrent --size lps_flat=2000
# programs: a role that is a model of the study's own, or another
run sonde study bakhoda2009 --only table1.lps.concurrent,table1.bfs.concurrent -o programs
run ls programs
run sonde study bakhoda2009 --only table1.lps.concurrent -d one=sim:bakhoda2009
# rows
run sonde study mei2014 --only t3.kepler.p1,t3.fermi_l1.p2,f11.kepler.130
run sonde study mei2014 --only t4.fermi_l1.lru,t4.fermi.texture_l1.lru
run sonde study mei2014 --only t3.kepler.p1 --json -
sonde study mei2014 --only t3.fermi_l1.p2 --json - | grep -A 9 '"readings"'
# another device in the role: the row fails, and so does the study
run sonde study mei2014 --only t3.kepler.p1,f11.kepler.130 -d kepler=sim:gtx560ti
run sonde study mei2014 --only t3.kepler.p1 -q -d kepler=sim:gtx560ti
# files
run sonde study mei2014 --only f9.16k -o out
run ls out/study.json out/study.txt out/f9.csv out/f9.gp
run head -n 3 out/f9.csv
# what only a figure can fail at: no gnuplot
run env PATH="$(dirname "$(command -v sonde)")" sonde study mei2014 --only f9.16k -q -o plain
run env PATH="$(dirname "$(command -v sonde)")" sonde study mei2014 --only f9.16k -o plain
run ls plain
