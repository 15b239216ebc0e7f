"""Ops outside gradsmith's own table: a table of one's own, built against the installed package.

`loading` imports one at once, `packages` makes a package of it that can be shipped.
"""
