import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import { parseCard } from "../../src/cards/index.ts";
import { arbitraryCard, createGsm8kExampleCards } from "../../src/cards/message-card/message-card.fixture.ts";

const schemaJson = readFileSync(
  new URL("../../docs/extensions/cards-v1.schema.json", import.meta.url),
  "utf8",
);
const schema = z.fromJSONSchema(JSON.parse(schemaJson) as z.core.JSONSchema.JSONSchema);
const isValidBySchema = (card: unknown): boolean => schema.safeParse(card).success;
const isParsed = (card: unknown): boolean => {
  try {
    return parseCard(card) !== undefined;
  } catch {
    return false;
  }
};

it("the JSON Schema of message cards accepts the same input as the parser", () => {
  fc.assert(fc.property(arbitraryCard, (card) => isValidBySchema(card) && isParsed(card)));
  for (const card of createGsm8kExampleCards()) expect(isValidBySchema(card)).toBe(true);
});

const [card] = createGsm8kExampleCards();
it.each<[string, object]>([
  ["a member too many", { ...card, priority: 1 }],
  ["a role with a space", { ...card, sender: "the planner" }],
  ["a type that is no text", { ...card, message_type: 1 }],
  ["content that is no text", { ...card, content: null }],
  ["metadata that is no object", { ...card, metadata: [] }],
  ["a time that is none", { ...card, timestamp: "yesterday" }],
  ["a turn of 0", { ...card, metadata: { turn: 0 } }],
  ["half a token", { ...card, metadata: { tokens: 0.5 } }],
  ["usage from nowhere", { ...card, metadata: { usage: { input_tokens: 1, output_tokens: 1 } } }],
  ["a time that runs back", { ...card, metadata: { duration_ms: -1 } }],
  ["a reply to nothing", { ...card, metadata: { in_reply_to: "" } }],
])("the JSON Schema of cards refuses what the parser refuses: %s", (_what, wrong) => {
  expect({ fits: isValidBySchema(wrong), parses: isParsed(wrong) }).toEqual({ fits: false, parses: false });
});

it.each<[string, object]>([
  ["metadata of null", { ...card, metadata: null }],
  ["no metadata", { ...card, metadata: undefined }],
  ["a time without a zone", { ...card, timestamp: "2025-01-15T10:30:00" }],
])("the JSON Schema of cards takes what the parser takes: %s", (_what, right) => {
  const plain: unknown = JSON.parse(JSON.stringify(right));
  expect({ fits: isValidBySchema(plain), parses: isParsed(plain) }).toEqual({ fits: true, parses: true });
});
