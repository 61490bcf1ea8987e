import type { RunRecordInput } from "./index.ts";

export const EXAMPLE_RUN: RunRecordInput = {
  run_id: "gsm8k-a2a",
  dataset: "gsm8k",
  sample_ids: Array.from({ length: 6 }, (_, index) => `gsm8k_${index}`),
  method: "a2a",
  model: { planner: "scripted", solver: "scripted" },
  limits: { max_turns: 3 },
  evidence: "simulated",
  rule: "gsm8k/strict",
  code: "0.1.0",
};
