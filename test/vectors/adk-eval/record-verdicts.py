"""Writes verdicts.json: runs weather.evalset.json with ADK for Python, whose model answers from script.json.

pip install "google-adk[eval]==2.13.0" && python record-verdicts.py
"""

import asyncio
import json
import pathlib
from importlib.metadata import version

from google.adk.agents import LlmAgent
from google.adk.evaluation.base_eval_service import EvaluateConfig, EvaluateRequest, InferenceConfig, InferenceRequest
from google.adk.evaluation.eval_config import EvalConfig, get_eval_metrics_from_config
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
from google.adk.evaluation.local_eval_service import LocalEvalService
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types

FOLDER = pathlib.Path(__file__).parent
SCRIPT = json.loads((FOLDER / "script.json").read_text())
CRITERIA = [
    {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8},
    {"tool_trajectory_avg_score": {"threshold": 1.0, "match_type": "IN_ORDER"}},
    {"tool_trajectory_avg_score": {"threshold": 1.0, "match_type": "ANY_ORDER"}},
    {"tool_trajectory_avg_score": {"threshold": 1.0, "match_type": "EXACT", "ignore_args": True}},
    {"response_match_score": 0.5},
]


class ScriptedModel(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        texts = [p.text for c in llm_request.contents if c.role == "user" for p in c.parts if p.text in SCRIPT]
        entry = SCRIPT[texts[-1]]
        has_results = any(p.function_response for p in llm_request.contents[-1].parts)
        if entry["calls"] and not has_results:
            parts = [types.Part(function_call=types.FunctionCall(**call)) for call in entry["calls"]]
        else:
            parts = [types.Part(text=entry["text"])]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def get_weather(city: str) -> dict:
    return {"ok": True}


def find_order(id: int) -> dict:
    return {"ok": True}


def refund(id: int, euros: float) -> dict:
    return {"ok": True}


AGENT = LlmAgent(name="weather", model=ScriptedModel(model="scripted"), tools=[get_weather, find_order, refund])


async def evaluate(criteria):
    eval_set = EvalSet.model_validate_json((FOLDER / "weather.evalset.json").read_text())
    manager = InMemoryEvalSetsManager()
    manager.create_eval_set("weather", eval_set.eval_set_id)
    for case in eval_set.eval_cases:
        manager.add_eval_case("weather", eval_set.eval_set_id, case)
    service = LocalEvalService(root_agent=AGENT, eval_sets_manager=manager)
    request = InferenceRequest(
        app_name="weather", eval_set_id=eval_set.eval_set_id, inference_config=InferenceConfig()
    )
    inferences = [result async for result in service.perform_inference(request)]
    metrics = [m for m in get_eval_metrics_from_config(EvalConfig(criteria=criteria)) if m.metric_name in criteria]
    config = EvaluateConfig(eval_metrics=metrics)
    verdicts = {}
    async for result in service.evaluate(EvaluateRequest(inference_results=inferences, evaluate_config=config)):
        scores = {metric.metric_name: metric.score for metric in result.overall_eval_metric_results}
        verdicts[result.eval_id] = {"passed": result.final_eval_status.name == "PASSED", **scores}
    return dict(sorted(verdicts.items()))


runs = [{"criteria": criteria, "verdicts": asyncio.run(evaluate(criteria))} for criteria in CRITERIA]
result = {"adk": version("google-adk"), "runs": runs}
(FOLDER / "verdicts.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
