import type { BaseLlm, LlmAgent } from "@google/adk";
import type { Schema } from "@google/genai";
import { evaluateExpression } from "./calculator.ts";
import { convertUnits } from "./units.ts";

/** Amount in euros above which an expense requires approval. */
export const EXPENSE_APPROVAL_THRESHOLD = 100;

/** Returns an ordinary ADK agent that has ADK tools and no A2A code. */
export async function createAssistant(model: BaseLlm | string): Promise<LlmAgent> {
  const { FunctionTool, LlmAgent, LongRunningFunctionTool } = await import("@google/adk");
  const expense = buildObjectSchema({ amount: "NUMBER", purpose: "STRING" });
  return new LlmAgent({
    name: "assistant",
    description: "Calculates, converts units, and reimburses expenses. Large expenses need approval.",
    model,
    instruction:
      "You are a helpful office assistant. Use the tools for every calculation and conversion. " +
      `For expenses above ${EXPENSE_APPROVAL_THRESHOLD} euros, call request_approval first. ` +
      "Call reimburse only after it returns approved: true.",
    tools: [
      new FunctionTool({
        name: "calculate",
        description: "Evaluates an arithmetic expression, for example (2 + 3) * sqrt(16).",
        parameters: buildObjectSchema({ expression: "STRING" }),
        execute: (input) => {
          const { expression } = input as { expression: string };
          return runToolOrReturnError(() => ({ expression, value: evaluateExpression(expression) }));
        },
      }),
      new FunctionTool({
        name: "convert_units",
        description:
          "Converts a value between units of length, mass, volume, speed, time, data or temperature.",
        parameters: buildObjectSchema({ value: "NUMBER", from: "STRING", to: "STRING" }),
        execute: (input) => {
          const { value, from, to } = input as { value: number; from: string; to: string };
          return runToolOrReturnError(() => ({
            from: `${value} ${from}`,
            to: `${convertUnits(value, from, to)} ${to}`,
          }));
        },
      }),
      new LongRunningFunctionTool({
        name: "request_approval",
        description: `Requests approval for an expense above ${EXPENSE_APPROVAL_THRESHOLD} euros. The response comes later.`,
        parameters: expense,
        execute: () => ({ status: "pending" }),
      }),
      new FunctionTool({
        name: "reimburse",
        description: "Pays an expense.",
        parameters: expense,
        execute: (input) => {
          const { amount, purpose } = input as { amount: number; purpose: string };
          return { status: "paid", receipt: `${amount} euros for ${purpose}` };
        },
      }),
    ],
  });
}

/**
 * Returns an object schema whose properties are all required. The function casts strings to schema types,
 * because the enum of schema types belongs to a dependency of ADK.
 */
function buildObjectSchema(properties: Record<string, "NUMBER" | "STRING">): Schema {
  const types = Object.entries(properties).map(([name, type]) => [name, { type }] as const);
  const schema = {
    type: "OBJECT",
    properties: Object.fromEntries(types),
    required: Object.keys(properties),
  };
  return schema as unknown as Schema;
}

/**
 * Runs a tool. If the tool fails, the function returns the error as the tool's result, because an exception
 * would end the turn.
 */
function runToolOrReturnError<T>(work: () => T): T | { error: string } {
  try {
    return work();
  } catch (error) {
    return { error: (error as Error).message };
  }
}
