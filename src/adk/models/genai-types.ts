/**
 * Types of Google's `genai` package, derived from ADK's types. The `genai` package need not be a dependency.
 */
import type { LlmRequest } from "@google/adk";

export type Content = LlmRequest["contents"][number];
export type Part = NonNullable<Content["parts"]>[number];
export type FunctionResponse = NonNullable<Part["functionResponse"]>;
export type GenerateContentConfig = NonNullable<LlmRequest["config"]>;

type Tool = NonNullable<GenerateContentConfig["tools"]>[number];
type FunctionDeclaration = NonNullable<
  Extract<Tool, { functionDeclarations?: unknown }>["functionDeclarations"]
>[number];
export type Schema = NonNullable<FunctionDeclaration["parameters"]>;
