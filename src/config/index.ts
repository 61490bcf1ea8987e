/**
 * PROJECT CONFIGURATION. The content of `colloquy.config.ts`, which `colloquy serve` reads. Command-line
 * options override this configuration.
 */
export { type Config, defineConfig } from "./config.ts";
