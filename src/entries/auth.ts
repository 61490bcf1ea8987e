/** The `colloquy/auth` entry: authentication schemes for the `authenticate` option of `createServer` and `toA2a`. */
export * from "../server/auth/index.ts";
