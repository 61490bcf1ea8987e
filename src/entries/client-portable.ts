/**
 * The `colloquy/client` entry point for runtimes without the import condition `node`, such as browsers and workers. The
 * types are those of `client.ts`.
 */
export * from "./a2a-model.ts";
export * from "../client/portable/index.ts";
