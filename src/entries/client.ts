/**
 * The `colloquy/client` entry point exports the client for remote A2A agents, without server code. The client
 * therefore also runs in browsers and edge runtimes.
 */
export * from "./a2a-model.ts";
export * from "../client/public.ts";
