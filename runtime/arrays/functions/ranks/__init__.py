"""What processes that compute together, the ranks of a group, exchange."""
