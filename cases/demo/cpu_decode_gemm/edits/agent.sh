# The climb's agent: makes the prepared edits one after the other. A turn that was interrupted is
# made again. CASE is the case whose history says which turns were made.
set -eu
cat > /dev/null
history=${CASE:?}/runs/history.jsonl
count() { grep -c "$1" "$history" || true; }
made=$(($(count '"type":"end"') - $(count '"state":"interrupted"') + $(count '"type":"skip"')))
for edit in edits/*.cc; do
  made=$((made - 1))
  [ $made -gt 0 ] && continue
  # The first lines of an edit say what it is.
  sed -n 's,^// \(description\|family\|hypothesis\): ,\1: ,p' "$edit" > "$ASSAY_ATTEMPT"
  sed '/^\/\/ \(description\|family\|hypothesis\): /d' "$edit" > workspace/ops/cpp/gemm.cc
  exit 0
done
