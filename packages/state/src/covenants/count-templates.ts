/** Updates the numbers of covenants by their templates. @param changes of `id` by `change` */
export function countTemplates(changes: string): string {
  return `
    update program_templates t set covenant_count = t.covenant_count + counted.change
      from (select id, sum(change) as change from (${changes}) each_change where id is not null
        group by id having sum(change) <> 0) counted
     where t.id = counted.id`;
}
