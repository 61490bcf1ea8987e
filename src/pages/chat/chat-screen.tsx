import type { VNode } from "preact";

/** The screen Chat. */
export function ChatScreen(): VNode {
  return <h1>Chat</h1>;
}
