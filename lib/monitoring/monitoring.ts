import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as actions from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { Construct, type IConstruct } from 'constructs';
import { quarantineWatched, type Watched, watchedBelow } from './watched.ts';

export interface MonitoringProps {
  /** What is watched: every queue, function, state machine and table below it. */
  readonly watch: readonly IConstruct[];
  /** Records that could not be read, counted by ingest. */
  readonly quarantined: cloudwatch.Metric;
  /** Gets every alarm and its end; without it alarms are seen in CloudWatch only. */
  readonly alarmTopic?: sns.ITopic;
}

/**
 * Alarms over all that can go wrong, and one dashboard. The description of an alarm begins with its severity
 * (`page` or `ticket`) and names the heading of docs/runbook.md that says what to do.
 */
export class Monitoring extends Construct {
  readonly alarms: readonly cloudwatch.Alarm[];
  readonly dashboard: cloudwatch.Dashboard;

  constructor(scope: Construct, id: string, { watch, quarantined, alarmTopic }: MonitoringProps) {
    super(scope, id);
    const watched = [...watch.flatMap(watchedBelow), quarantineWatched(quarantined)];
    this.alarms = watched.map((each) => this.#alarm(each, alarmTopic));
    this.dashboard = new cloudwatch.Dashboard(this, 'Dashboard', {
      widgets: [
        [new cloudwatch.AlarmStatusWidget({ title: 'Alarms', width: 24, alarms: [...this.alarms] })],
        ...inRows(
          groupsOf(watched).map(([title, left]) => new cloudwatch.GraphWidget({ title, left, width: 8 })),
        ),
      ],
    });
  }

  #alarm(watched: Watched, topic: sns.ITopic | undefined): cloudwatch.Alarm {
    const { id, heading, severity, metric, threshold, periods } = watched;
    const alarm = new cloudwatch.Alarm(this, id, {
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      // Most of these metrics are written only when something happens.
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      alarmDescription: `${severity}: ${heading} (docs/runbook.md)`,
    });
    if (topic !== undefined) {
      const action = new actions.SnsAction(topic);
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
    return alarm;
  }
}

/** Metrics under their heading, in the order in which the headings first come. */
function groupsOf(watched: readonly Watched[]): [heading: string, metrics: cloudwatch.IMetric[]][] {
  const groups = new Map<string, cloudwatch.IMetric[]>();
  for (const { heading, metric } of watched) groups.set(heading, [...(groups.get(heading) ?? []), metric]);
  return [...groups];
}

function inRows(widgets: readonly cloudwatch.IWidget[]): cloudwatch.IWidget[][] {
  const rows: cloudwatch.IWidget[][] = [];
  for (let at = 0; at < widgets.length; at += 3) rows.push(widgets.slice(at, at + 3));
  return rows;
}
