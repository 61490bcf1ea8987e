import { expect, it } from "vitest";
import type { Message } from "../protocol/index.ts";
import { isSameMessage } from "./repeated-messages.ts";

const plain: Message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] };
const accepted: Message = { ...plain, taskId: "T", contextId: "C" };

it.each<[string, Partial<Message>]>([
  ["nothing else", {}],
  ["the ids that the server assigned", { taskId: "T", contextId: "C" }],
  ["empty lists", { extensions: [], referenceTaskIds: [] }],
])("a repeated message with %s is the same message [E10]", (_, more) => {
  expect(isSameMessage({ ...plain, ...more }, accepted)).toBe(true);
});

it.each<[string, Partial<Message>]>([
  ["another task", { taskId: "U" }],
  ["another context", { contextId: "D" }],
  ["other parts", { parts: [{ text: "ho" }] }],
  ["metadata", { metadata: { urgent: true } }],
  ["an extension", { extensions: ["urn:x"] }],
  ["a referenced task", { referenceTaskIds: ["U"] }],
])("a message with %s is a different message [E10]", (_, more) => {
  expect(isSameMessage({ ...plain, ...more }, accepted)).toBe(false);
});
