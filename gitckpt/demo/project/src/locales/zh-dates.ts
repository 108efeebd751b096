import moment from 'moment';
import 'moment/locale/zh-cn';

/** 把看板切换为中文显示。 */
export function useChinese(): void {
  moment.locale('zh-cn');
}

/** 例如「3月9日 星期一 14:30」。 */
export function 中文时间(value: Date | string): string {
  return moment(value).format('M月D日 dddd HH:mm');
}
