import type { Message, Task } from "a2a-js-sdk-0.3";

/** Creates a request of A2A 0.3 with a text message. */
export function createTextRequest(
  text: string,
  about: Partial<Pick<Message, "taskId" | "contextId" | "parts">> = {},
): { message: Message } {
  const message: Message = {
    kind: "message",
    messageId: crypto.randomUUID(),
    role: "user",
    parts: [{ kind: "text", text }],
    ...about,
  };
  return { message };
}

/** Returns the task in a response, or throws if the response is a message. */
export function requireTask(response: Message | Task): Task {
  if (response.kind === "task") return response;
  throw new Error("The response is a message instead of a task.");
}

/** Returns the text of each artifact. */
export function listArtifactTexts({ artifacts = [] }: Task): string[] {
  return artifacts.map(({ parts }) => parts.map((part) => (part.kind === "text" ? part.text : "")).join(""));
}
