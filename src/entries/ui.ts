/** The `colloquy/ui` entry point contains chats for web pages, without any framework. It runs in browsers. */
export type {
  Chat,
  ChatInput,
  ChatMessage,
  ChatOptions,
  ChatPart,
  ChatPosition,
  ChatSnapshot,
  ChatStatus,
  ChatStorage,
  DataChatPart,
  FileChatPart,
  SourceChatPart,
  TextChatPart,
  ToolApproval,
  ToolCallState,
  ToolChatPart,
  WebStorage,
} from "../ui/index.ts";
export { createChat, createWebStorage } from "../ui/index.ts";
export type { DataPart, JsonObject, JsonValue, Part, RawPart, TextPart, UrlPart } from "../protocol/index.ts";
