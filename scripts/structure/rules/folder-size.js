const most = 20;

export const folderSize = {
  name: 'folder-size',
  check({ files }) {
    const counts = new Map();
    for (const { folder } of files) counts.set(folder, (counts.get(folder) ?? 0) + 1);
    const [[largest, count] = ['', 0]] = [...counts].sort(([, a], [, b]) => b - a);
    return {
      problems: [...counts]
        .filter(([, size]) => size > most)
        .map(([folder, size]) => `${folder}/ has ${size} files; ${most} are allowed: cut it by meaning`),
      figures: [`most files in a folder: ${count} (${largest}/)`],
    };
  },
};
