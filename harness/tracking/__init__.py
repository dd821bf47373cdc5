"""The MLflow mirror: everything is recorded first and mirrored second."""
