/**
 * CHATS IN A BROWSER. `createChat` is a conversation with an A2A agent, without any framework: a state that a page
 * shows, and functions that send, stop, approve, and resume. All messages are computed from the event logs of tasks, so
 * that a reload loses and repeats nothing.
 *
 * `ai-sdk/` connects `useChat` of the AI SDK, `react/` connects React, and `ag-ui/` serves the AG-UI protocol. The
 * folder imports no module of Node.js.
 */
export type { ChatMessage, ChatPart, ToolApproval, ToolChatPart } from "./chat-message.ts";
export type { Chat, ChatOptions, ChatSnapshot, ChatStatus } from "./chat.ts";
export { createChat } from "./chat.ts";
export type { ChatPosition, ChatStorage } from "./chat-storage.ts";
export { createWebStorage } from "./chat-storage.ts";
