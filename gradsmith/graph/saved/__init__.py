"""Programs in files.

Note [Programs in files]
A file holds what a traced function did: ops of the table by name, with their arguments, in order; those of the
backward too. Values are numbered. Nothing in it is an address, a size of memory or a plan. A program that is loaded is
a function that calls these ops one after the other, compiled like any other function: plans, loops and the memory of
values are made anew, so that a file can only ask for what a Python program could ask for as well.

What a file says is checked when it is loaded: every op is called once on tensors without data, by the function that
Python programs call, which checks its arguments. Dtypes and shapes of the results have to be what the file says.
"""
