import { describe, expect, it } from "vitest";
import { MemoryArtifactService } from "./memory-artifact-service.ts";

const session = { appName: "app", userId: "ada", sessionId: "s" };
const save = (service: MemoryArtifactService, filename: string, text: string): Promise<number> =>
  service.saveArtifact({ ...session, filename, artifact: { text } });

describe("files in memory", () => {
  it("have versions, as in ADK", async () => {
    const service = new MemoryArtifactService();
    expect([await save(service, "a", "one"), await save(service, "a", "two")]).toEqual([0, 1]);
    expect(await service.loadArtifact({ ...session, filename: "a" })).toEqual({ text: "two" });
    expect(await service.loadArtifact({ ...session, filename: "a", version: 0 })).toEqual({ text: "one" });
  });

  it("stay below the limit, because the file with the oldest last version is deleted", async () => {
    const service = new MemoryArtifactService({ maxBytes: 10 });
    await save(service, "a", "1234");
    await save(service, "b", "1234");
    await save(service, "a", "5");
    await save(service, "c", "1234");
    expect(await service.listArtifactKeys(session)).toEqual(["a", "c"]);
    await service.deleteArtifact({ ...session, filename: "c" });
    await save(service, "d", "12345");
    expect(await service.listArtifactKeys(session)).toEqual(["a", "d"]);
  });

  it("of a user count once for all sessions", async () => {
    const service = new MemoryArtifactService({ maxBytes: 10 });
    await save(service, "user:a", "12345");
    const artifact = { text: "12345" };
    await service.saveArtifact({ ...session, sessionId: "other", filename: "user:a", artifact });
    await save(service, "b", "1");
    expect(await service.listArtifactKeys(session)).toEqual(["b"]);
  });

  it("that exceed the limit alone are refused, and no other file is deleted", async () => {
    const service = new MemoryArtifactService({ maxBytes: 4 });
    await save(service, "a", "1234");
    await expect(save(service, "b", "12345")).rejects.toThrow('The file b has 5 bytes, and "maxBytes"');
    expect(await service.listArtifactKeys(session)).toEqual(["a"]);
  });
});
