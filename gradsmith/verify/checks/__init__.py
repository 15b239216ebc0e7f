"""One file per property. A check takes a `Subject`, makes its comparisons and counts them in a `Proof`."""
