import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { InMemoryArtifactService, type DeleteArtifactRequest, type SaveArtifactRequest } from "@google/adk";

/** Options of `MemoryArtifactService`. */
export interface MemoryArtifactOptions {
  /**
   * Maximum size of all files together, in bytes. Binary content counts in its base64 form. Default:
   * 134,217,728 (128 MiB).
   */
  readonly maxBytes?: number;
}

const assertKnownOptions = defineOptionNames<MemoryArtifactOptions>()("MemoryArtifactService", "maxBytes");

interface StoredFile {
  readonly location: DeleteArtifactRequest;
  readonly bytes: number;
}

/**
 * ADK artifact service that stores files in memory, like ADK's `InMemoryArtifactService`, but with a limit. If
 * a new version exceeds the limit, the service deletes the files whose last version is the oldest, with all of
 * their versions.
 */
export class MemoryArtifactService extends InMemoryArtifactService {
  readonly #maxBytes: number;
  /** The files by their location as JSON, in the order of their last version. */
  readonly #files = new Map<string, StoredFile>();
  #totalBytes = 0;

  constructor(options: MemoryArtifactOptions = {}) {
    assertKnownOptions(options);
    const { maxBytes = 134_217_728 } = options;
    super();
    if (!(maxBytes > 0)) throw new RangeError(`"maxBytes" is ${maxBytes}. Use a number above 0.`);
    this.#maxBytes = maxBytes;
  }

  override async saveArtifact(request: SaveArtifactRequest): Promise<number> {
    const bytes = Buffer.byteLength(request.artifact.inlineData?.data ?? request.artifact.text ?? "");
    if (bytes > this.#maxBytes) {
      throw new RangeError(
        `The file ${request.filename} has ${bytes} bytes, and "maxBytes" of MemoryArtifactService is ` +
          `${this.#maxBytes}. Raise "maxBytes", or pass another artifactService.`,
      );
    }
    for (const { location } of this.#files.values()) {
      if (this.#totalBytes + bytes <= this.#maxBytes) break;
      await this.deleteArtifact(location);
    }
    const version = await super.saveArtifact(request);
    const { appName, userId, sessionId, filename } = request;
    const location = { appName, userId, sessionId, filename };
    const key = toFileKey(location);
    const previous = this.#files.get(key);
    this.#files.delete(key);
    this.#files.set(key, { location, bytes: bytes + (previous?.bytes ?? 0) });
    this.#totalBytes += bytes;
    return version;
  }

  override async deleteArtifact(request: DeleteArtifactRequest): Promise<void> {
    const key = toFileKey(request);
    this.#totalBytes -= this.#files.get(key)?.bytes ?? 0;
    this.#files.delete(key);
    await super.deleteArtifact(request);
  }
}

/** Files with the prefix `user:` belong to all sessions of a user. */
function toFileKey({ appName, userId, sessionId, filename }: DeleteArtifactRequest): string {
  return JSON.stringify([appName, userId, filename.startsWith("user:") ? "" : sessionId, filename]);
}
