import { useEffect, useSyncExternalStore } from "react";
import type { Chat, ChatSnapshot } from "../chat.ts";

/**
 * Returns the current state of a chat in a React component, and resumes the chat when the component first appears. Create
 * the chat with `createChat` outside the component, because a chat lives longer than a component.
 *
 * ```tsx
 * const chat = createChat("https://example.com/agent");
 * function Messages() {
 *   const { messages } = useA2AChat(chat);
 *   return messages.map((message) => <Message key={message.id} message={message} />);
 * }
 * ```
 */
export function useA2AChat(chat: Chat): ChatSnapshot {
  useEffect(() => void chat.resume(), [chat]);
  return useSyncExternalStore(chat.subscribe, chat.getSnapshot, chat.getSnapshot);
}
