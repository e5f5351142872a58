#!/bin/sh
# The answer follows the model and nothing else: each model is dissected to what its file says, whatever
# it is called and whatever its driver tells.
for model in gtx560ti gtx560ti-48k gtx780; do
    dissect sim:$model $model.json
    truth $model $model.json
done
for path in "$SOURCE"/tests/models/*.yaml; do
    name=$(basename "$path" .yaml)
    dissect "sim:$path" "$name.json"
    truth "$path" "$name.json"
done
