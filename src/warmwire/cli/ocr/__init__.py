"""The work behind `warmwire ocr`."""
