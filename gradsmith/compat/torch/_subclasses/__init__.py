"""Classes of tensors without values, of which there are none here: a tensor on the device "meta" is a plain one."""
