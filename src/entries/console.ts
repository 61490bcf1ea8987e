/**
 * The `colloquy/console` entry point mounts the console on a server of your program. The console requires Node.js.
 */
export * from "../studio/console/public.ts";
