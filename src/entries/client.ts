/** The `colloquy/client` entry: calls remote A2A agents. It loads no server code, so it also fits browsers and edge runtimes. */
export * from "../client/index.ts";
