/** The `colloquy/ui/react` entry point shows chats of `colloquy/ui` in React. Requires `react`. */
export { useA2AChat } from "../ui/react/index.ts";
