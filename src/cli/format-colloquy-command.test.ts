import { describe, expect, it } from "vitest";
import { getInvocationCommand } from "./format-colloquy-command.ts";

describe("printed commands", () => {
  const argv = ["node", "/app/node_modules/colloquy/bin/colloquy.js"];

  it("use the npm script of the clone, and npx in scripts of other projects, which have no such script", () => {
    const inScript = { npm_command: "run", npm_lifecycle_event: "dev" };
    expect(getInvocationCommand(argv, { ...inScript, npm_package_name: "colloquy" })).toBe(
      "npm run -s colloquy --",
    );
    expect(getInvocationCommand(argv, { ...inScript, npm_package_name: "my-agent" })).toBe(
      "npx --no -- colloquy",
    );
    expect(getInvocationCommand(argv, { npm_command: "exec" })).toBe("npx --no -- colloquy");
  });
});
