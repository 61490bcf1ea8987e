import { join } from "node:path";
import { expect, it } from "vitest";
import { createTempTestDirectoryWithFiles } from "../cli-test-process.fixture.ts";
import { describeIgnoredConfigFiles } from "./apply-config-file.ts";

it("a configuration file that the command does not read is reported with the reason", async () => {
  const root = await createTempTestDirectoryWithFiles({
    "colloquy.config.ts": "",
    "colloquy.config.js": "",
    "colloquy.config.json": "",
    "empty/package.json": "",
    "agents/colloquy.config.mjs": "",
    "agents/weather.ts": "",
  });
  const used = join(root, "colloquy.config.ts");
  expect(describeIgnoredConfigFiles(used, root, ["agents/weather.ts"])).toEqual([
    `${join(root, "colloquy.config.js")} is ignored, because the command uses ${used}.`,
    `${join(root, "colloquy.config.json")} is ignored, because the command uses ${used}.`,
  ]);
  const outside = "is ignored, because it is not in the working directory. To use the file, pass --config";
  expect(describeIgnoredConfigFiles(undefined, join(root, "empty"), [])).toEqual([
    `${used} ${outside} ${used}.`,
  ]);
  const unsupported = await createTempTestDirectoryWithFiles({ "colloquy.config.json": "{}" });
  expect(describeIgnoredConfigFiles(undefined, unsupported, [join(root, "agents/weather.ts")])).toEqual([
    `${join(unsupported, "colloquy.config.json")} is ignored, because its name does not end in .ts, .mts, .js, or .mjs.`,
    `${join(root, "agents/colloquy.config.mjs")} ${outside} ${join(root, "agents/colloquy.config.mjs")}.`,
  ]);
});
