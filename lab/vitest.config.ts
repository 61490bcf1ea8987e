import { defineConfig, type ViteUserConfig } from "vitest/config";

/** Tests of the labs themselves: `npm run lab -- tests`. */
const config: ViteUserConfig = defineConfig({
  test: { dir: "lab", testTimeout: 120_000, hookTimeout: 120_000, pool: "threads", isolate: false },
});

export default config;
