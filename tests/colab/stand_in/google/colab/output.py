"""Stands in for Colab's own module; what was called shows in the output of the cell."""


def enable_custom_widget_manager():
    print("google.colab.output.enable_custom_widget_manager()")
