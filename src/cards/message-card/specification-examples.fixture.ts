import type { MessageCard } from "./message-card.ts";

/** Examples of the card specification, unchanged. Their `{...}` stands for an empty context. */
export const SPECIFICATION_EXAMPLES: readonly MessageCard[] = [
  {
    sender: "controller",
    recipient: "planner",
    message_type: "task",
    content: "What is 25 * 17?",
    metadata: { dataset: "gsm8k", context: {} },
    timestamp: "2025-01-15T10:30:00",
  },
  {
    sender: "solver",
    recipient: "planner",
    message_type: "result",
    content: "425",
    metadata: { status: "success", turn: 1, tokens: 120 },
    timestamp: "2025-01-15T10:30:15",
  },
  {
    sender: "planner",
    recipient: "solver",
    message_type: "query",
    content: "어떤 방법을 사용할까요?",
    metadata: { options: ["방법A", "방법B", "방법C"] },
    timestamp: "2025-01-15T10:30:10",
  },
  {
    sender: "controller",
    recipient: "planner",
    message_type: "control",
    content: "stop",
    metadata: { parameters: { reason: "timeout" } },
    timestamp: "2025-01-15T10:35:00",
  },
  {
    sender: "solver",
    recipient: "planner",
    message_type: "error",
    content: "no answer",
    metadata: { error_type: "timeout" },
    timestamp: "2025-01-15T10:35:00",
  },
];
