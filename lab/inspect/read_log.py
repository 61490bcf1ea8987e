"""Prints the counts, scores, messages, and tokens of a log, as Inspect AI reads them."""

import json
import sys

from inspect_ai.log import read_eval_log

log = read_eval_log(sys.argv[1])
samples = log.samples or []
print(
    json.dumps(
        {
            "status": log.status,
            "total": log.results.total_samples,
            "completed": log.results.completed_samples,
            "accuracy": log.results.scores[0].metrics["accuracy"].value,
            "scores": {str(sample.id): sample.scores["answer"].value for sample in samples},
            "messages": {str(sample.id): [message.text for message in sample.messages] for sample in samples},
            "prompts": [
                [message.text for message in event.input] for sample in samples for event in sample.events
            ],
            "replies": [event.output.completion for sample in samples for event in sample.events],
            "tokens": sum(usage.total_tokens for usage in log.stats.model_usage.values()),
        }
    )
)
