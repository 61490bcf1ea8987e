"""Does with the guide's client what the guide does: argv is base URL, agent and query; stdout gets what came of it."""

import json
import sys

from a2a_client import A2AClient

base_url, agent_id, query = sys.argv[1:]
client = A2AClient(base_url, agent_id)
task_id = client.create_task("web_research", {"query": query, "depth": "comprehensive"})
before = client.get_task(task_id)
events = list(client.stream_events(task_id))
after = client.get_task(task_id)
json.dump({"taskId": task_id, "before": before, "events": events, "after": after}, sys.stdout)
