export function listPackageFolders(moduleIds: Iterable<string>): string[];
