/**
 * A Grafana dashboard as plain objects: the few parts of its JSON model (schema version 39) that these dashboards use.
 */

export interface Query {
  /** PromQL; `$selector` stands for the chosen instances. */
  readonly expr: string;
  /** Name of each line, with labels in double braces. */
  readonly legend: string;
}

export type Unit = 'short' | 'bytes' | 'Bps' | 's' | 'ops' | 'percentunit';

export interface Panel {
  readonly title: string;
  readonly description: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** One large number instead of lines over time. */
  readonly single?: boolean;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly rows: readonly Row[];
}

/** Grafana's grid is 24 columns wide. */
const columns = 24;
const panelHeight = 8;
const singleHeight = 4;
const source = { type: 'prometheus', uid: '${datasource}' };

export const selector = 'instance=~"$instance"';

function panelJson(panel: Panel, id: number, x: number, y: number, width: number): object {
  const refs = panel.queries.map(({ expr, legend }, place) => ({
    refId: String.fromCharCode(65 + place),
    datasource: source,
    expr,
    legendFormat: legend,
  }));
  const common = {
    id,
    title: panel.title,
    description: panel.description,
    datasource: source,
    gridPos: { x, y, w: width, h: heightOf(panel) },
    targets: refs,
  };
  const defaults = { unit: panel.unit, min: 0 };
  if (panel.single === true)
    return {
      ...common,
      type: 'stat',
      fieldConfig: { defaults, overrides: [] },
      options: { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false } },
    };
  const tooltip = { mode: 'multi', sort: 'desc' };
  return {
    ...common,
    type: 'timeseries',
    fieldConfig: { defaults: { ...defaults, custom: { fillOpacity: 10, showPoints: 'never' } }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip },
  };
}

const heightOf = (panel: Panel): number => (panel.single === true ? singleHeight : panelHeight);

function variable(name: string, label: string, query: string): object {
  return {
    type: 'query',
    name,
    label,
    datasource: source,
    query: { query, refId: name },
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: '.+',
    current: { text: 'All', value: '$__all' },
  };
}

export function dashboardJson(dashboard: Dashboard): object {
  const panels: object[] = [];
  let y = 0;
  let id = 0;
  for (const row of dashboard.rows) {
    panels.push({
      id: (id += 1),
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: columns, h: 1 },
      panels: [],
    });
    y += 1;
    const perLine = row.panels.every((panel) => panel.single === true)
      ? Math.min(6, row.panels.length)
      : Math.min(3, row.panels.length);
    for (let start = 0; start < row.panels.length; start += perLine) {
      const line = row.panels.slice(start, start + perLine);
      const width = Math.floor(columns / perLine);
      line.forEach((panel, place) => panels.push(panelJson(panel, (id += 1), place * width, y, width)));
      y += Math.max(...line.map(heightOf));
    }
  }
  return {
    uid: dashboard.uid,
    title: dashboard.title,
    description: dashboard.description,
    tags: ['sluice'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    timezone: 'browser',
    annotations: { list: [] },
    templating: {
      list: [
        { type: 'datasource', name: 'datasource', label: 'Prometheus', query: 'prometheus', current: {} },
        variable('instance', 'Instance', 'label_values(sluice_epoch, instance)'),
      ],
    },
    panels,
  };
}
