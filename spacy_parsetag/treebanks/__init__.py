"""Files of trees: reading, writing, converting and splitting them, and the formats that treebanks come in."""
