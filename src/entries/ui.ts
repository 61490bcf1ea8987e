/** The `colloquy/ui` entry point contains chats for web pages, without any framework. It runs in browsers. */
export * from "../ui/index.ts";
export type { DataPart, JsonObject, JsonValue, Part, RawPart, TextPart, UrlPart } from "../protocol/index.ts";
