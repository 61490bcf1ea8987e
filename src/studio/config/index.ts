/**
 * PROJECT CONFIGURATION. The content of `colloquy.config.ts`, which `colloquy serve` reads. Command-line
 * options override the content of `colloquy.config.ts`.
 */
export { type ServeConfig, defineConfig } from "./config.ts";
