/**
 * The `colloquy/auth` entry point exports authentication schemes for the option `authenticate` of
 * `createServer` and `toA2a`.
 */
export * from "../server/auth/index.ts";
