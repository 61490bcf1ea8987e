import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { generatePushSecretKey, PushSecretCipher } from "./push-secret-cipher.ts";

const task = { tenant: "acme", principal: "alice", taskId: "t" };
const config = {
  id: "c",
  taskId: "t",
  url: "https://example.com/hook",
  token: "token-of-alice",
  authentication: { scheme: "Bearer", credentials: "credentials-of-alice" },
};
const [key, otherKey] = [generatePushSecretKey(), generatePushSecretKey()];
const cipher = new PushSecretCipher([key], "store.db.key");

describe("the cipher of webhook secrets", () => {
  it("restores every configuration, and the sealed form contains no secret", () => {
    const secret = fc.string({ minLength: 8 });
    fc.assert(
      fc.property(secret, secret, (token, credentials) => {
        const original = { ...config, token, authentication: { scheme: "Bearer", credentials } };
        const sealed = cipher.seal(original, task);
        expect(Object.keys(sealed)).not.toContain("token");
        expect(sealed.authentication).toEqual({ scheme: "Bearer" });
        expect(cipher.open(sealed, task)).toEqual({ config: original });
      }),
    );
    const text = JSON.stringify(cipher.seal(config, task));
    expect(text).not.toMatch(/token-of|credentials-of/);
  });

  it("keeps configurations without secrets as they are", () => {
    const { token: _token, authentication: _authentication, ...plain } = config;
    for (const without of [plain, { ...plain, token: "", authentication: { scheme: "Digest" } }]) {
      expect(cipher.seal(without, task)).toEqual(without);
      expect(cipher.open(without, task)).toEqual({ config: without });
    }
  });

  it("seals equal secrets differently each time", () => {
    expect(cipher.seal(config, task).sealedSecrets).not.toBe(cipher.seal(config, task).sealedSecrets);
  });

  it.each([
    ["tenant", config, { ...task, tenant: "other" }],
    ["principal", config, { ...task, principal: "mallory" }],
    ["task", config, { ...task, taskId: "u" }],
    ["id", { ...config, id: "d" }, task],
    ["URL", { ...config, url: "https://evil.example/" }, task],
  ])("does not decrypt secrets under another %s", (_, { id, url }, otherTask) => {
    const { sealedSecrets = "" } = cipher.seal(config, task);
    const moved = cipher.open(
      { id, url, taskId: "t", authentication: { scheme: "Bearer" }, sealedSecrets },
      otherTask,
    );
    expect(moved.secretsError).toContain("belong to another webhook");
    expect(JSON.stringify(moved)).not.toMatch(/token-of|credentials-of/);
  });

  it("does not decrypt changed secrets [SEC-44]", () => {
    const sealed = cipher.seal(config, task);
    const [version, keyId, data = ""] = (sealed.sealedSecrets ?? "").split(".");
    const bytes = Buffer.from(data, "base64url");
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      const sealedSecrets = [version, keyId, changed.toString("base64url")].join(".");
      expect(cipher.open({ ...sealed, sealedSecrets }, task).secretsError).toContain("were changed");
    }
  });

  it("decrypts with an earlier key, and encrypts with the first key", () => {
    const rotated = new PushSecretCipher([otherKey, key], "keys");
    expect(rotated.open(cipher.seal(config, task), task)).toEqual({ config });
    expect(cipher.open(rotated.seal(config, task), task).secretsError).toMatch(
      /encrypted with the key [0-9a-f]{8}, which store\.db\.key does not contain; restore the key, or register/,
    );
  });

  it("rejects invalid keys, and says how to create a key", () => {
    for (const keys of [[], ["short"], [key, "x".repeat(44)], [`${key}${key}`], [" ".repeat(44)]])
      expect(() => new PushSecretCipher(keys, '"pushSecretKeys"')).toThrow(
        /"pushSecretKeys".*; create a key with: openssl rand -base64 32$/,
      );
  });
});
