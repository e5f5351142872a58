#!/bin/sh
# The answer follows the model and nothing else: each model is dissected to what its file says, whatever
# it is called and whatever its driver tells.
# whole: gtx560ti gtx560ti-48k gtx780 liar
for model in gtx560ti gtx560ti-48k gtx780; do
    whole $model $model.json
    truth $model $model.json
done
for path in "$SOURCE"/tests/models/*.yaml; do
    name=$(basename "$path" .yaml)
    if [ "$name" = liar ]; then whole liar liar.json; else dissect "sim:$path" "$name.json"; fi
    truth "$path" "$name.json"
done
