/** REACT BINDINGS OF `createChat`. Requires the package `react`. */
export { useA2AChat } from "./use-a2a-chat.ts";
