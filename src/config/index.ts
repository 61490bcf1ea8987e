/**
 * WHAT A PROJECT SAYS OF ITSELF: the content of its `colloquy.config.ts`, which `colloquy serve` reads. What the command
 * line says is stronger.
 */
export { type Config, defineConfig } from "./config.ts";
