/** TRANSPORT FOR `useChat` OF THE AI SDK. Requires only the types of the package `ai`. */
export type { A2AChatTransportOptions } from "./a2a-chat-transport.ts";
export { A2AChatTransport } from "./a2a-chat-transport.ts";
export type { A2AMessageMetadata } from "./ui-message-chunk-encoder.ts";
