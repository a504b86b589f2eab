# Sourced: this shell, and what it starts, see the lab's GPU alone.
assay_selected_gpu=$("${ASSAY:-assay}" device --export) && eval "$assay_selected_gpu"
