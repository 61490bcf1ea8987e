/**
 * Types of Google's `genai` package. The types are derived from ADK's types, so Colloquy does not depend on
 * the `genai` package.
 */
import type { LlmRequest } from "@google/adk";

export type Content = LlmRequest["contents"][number];
export type GenaiContentPart = NonNullable<Content["parts"]>[number];
export type FunctionResponse = NonNullable<GenaiContentPart["functionResponse"]>;
export type GenerateContentConfig = NonNullable<LlmRequest["config"]>;

type Tool = NonNullable<GenerateContentConfig["tools"]>[number];
type FunctionDeclaration = NonNullable<
  Extract<Tool, { functionDeclarations?: unknown }>["functionDeclarations"]
>[number];
export type GenaiSchema = NonNullable<FunctionDeclaration["parameters"]>;
