/** The A2A types, and the functions for them, which the entry points `colloquy` and `colloquy/client` have in common. */
export * from "../protocol/public.ts";
