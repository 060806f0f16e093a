"""Training: converters, schedules, callbacks."""
