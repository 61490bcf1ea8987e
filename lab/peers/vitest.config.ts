import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";

/** `lab/peers/main.ts` sets the variable. */
const name = process.env["COLLOQUY_PEER"] ?? "";
const folder = fileURLToPath(new URL(`../../node_modules/.cache/colloquy-peers-${name}`, import.meta.url));
const manifest = join(folder, "package.json");
const { dependencies } = JSON.parse(readFileSync(manifest, "utf8")) as { dependencies: object };

const config: ViteUserConfig = defineConfig({
  plugins: [
    {
      name: "peer-packages",
      enforce: "pre",
      /** Resolves the packages of the manifest from its folder, also for importers in `src/`. */
      async resolveId(source) {
        const [packageName = ""] = /^(?:@[^/]+\/)?[^/]+/.exec(source) ?? [];
        return Object.hasOwn(dependencies, packageName)
          ? await this.resolve(source, manifest, { skipSelf: true })
          : undefined;
      },
    },
  ],
  test: {
    include: ["lab/peers/**/*.peer-test.ts"],
    globalSetup: ["test/support/install-postgres.ts", "test/support/shared-postgres-server.ts"],
    // Each query of the Claude Agent SDK starts a program.
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
});

export default config;
